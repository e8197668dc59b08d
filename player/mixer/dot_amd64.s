//go:build !purego

#include "textflag.h"

// SSE, which every amd64 has. Products and sums are rounded one by one as Go does it: nothing is fused.

// func sumMono(c, x *float32, n int, s *[4]float32)
TEXT ·sumMono(SB), NOSPLIT, $0-32
	MOVQ  c+0(FP), SI
	MOVQ  x+8(FP), DI
	MOVQ  n+16(FP), CX
	MOVQ  s+24(FP), DX
	XORPS X0, X0       // s0 s1 s2 s3

mono:
	MOVUPS (SI), X1
	MOVUPS 16(SI), X2
	MOVUPS (DI), X3
	MOVUPS 16(DI), X4
	MULPS  X3, X1
	MULPS  X4, X2
	ADDPS  X1, X0
	ADDPS  X2, X0
	ADDQ   $32, SI
	ADDQ   $32, DI
	DECQ   CX
	JNZ    mono
	MOVUPS X0, (DX)
	RET

// func sumStereo(c, x *float32, n int, s *[8]float32)
TEXT ·sumStereo(SB), NOSPLIT, $0-32
	MOVQ  c+0(FP), SI
	MOVQ  x+8(FP), DI
	MOVQ  n+16(FP), CX
	MOVQ  s+24(FP), DX
	XORPS X0, X0       // l0 r0 l1 r1
	XORPS X1, X1       // l2 r2 l3 r3

stereo:
	MOVUPS   (SI), X2
	MOVAPS   X2, X3
	UNPCKLPS X2, X2     // c0 c0 c1 c1
	UNPCKHPS X3, X3     // c2 c2 c3 c3
	MOVUPS   16(SI), X4
	MOVAPS   X4, X5
	UNPCKLPS X4, X4
	UNPCKHPS X5, X5
	MOVUPS   (DI), X6
	MOVUPS   16(DI), X7
	MOVUPS   32(DI), X8
	MOVUPS   48(DI), X9
	MULPS    X6, X2
	MULPS    X7, X3
	MULPS    X8, X4
	MULPS    X9, X5
	ADDPS    X2, X0
	ADDPS    X3, X1
	ADDPS    X4, X0
	ADDPS    X5, X1
	ADDQ     $32, SI
	ADDQ     $64, DI
	DECQ     CX
	JNZ      stereo
	MOVUPS   X0, (DX)
	MOVUPS   X1, 16(DX)
	RET
