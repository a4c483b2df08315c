readelf: Error: 'bbbbbb/b/firmware.elf': No such file
