/*
 * cg_build.h -- which of the sources that a kernel can do without belong to this build. In a folder
 * written by the generator it is made for the models there: 0 where no layer needs the source, and
 * the code that calls it is then left out as well.
 */
#ifndef CG_BUILD_H
#define CG_BUILD_H

#define CG_HAS_GATHER4_S8_DSP 1
#define CG_HAS_TILE4_S8_DSP   1
#define CG_HAS_TILE2_S8_DSP   1

#endif /* CG_BUILD_H */
