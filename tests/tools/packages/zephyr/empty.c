/* A target of CMake has a source. */
typedef int empty;
