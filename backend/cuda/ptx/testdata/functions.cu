// Kernels that draw much of the device library in; their PTX is made when a test
// runs, where NVRTC is to be had.

// Sine of large arguments needs a table and local memory; pow calls a function.
extern "C" __global__ void trigonometry(const double *__restrict__ x, const float *__restrict__ z, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = sin(x[i]) + pow(fabs(x[i]), 0.3) + sinf(z[i]);
}

