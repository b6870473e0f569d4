// The program of single sequences for the values that kernels treat by ways of their own: wide ones, and `f32` whose
// extremes are found in one instruction. Apart from main.cpp, so that other faults needn't compile them.
#define KOGGE_VALUES
#include "main.cpp"
