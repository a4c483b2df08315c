readelf: Error: 'aa/b/firmware.elf': No such file
