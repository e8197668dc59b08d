//go:build !amd64 || purego

package mixer

func dotMono(c, x []float32) float32                 { return plainMono(c, x) }
func dotStereo(c, x []float32) (left, right float32) { return plainStereo(c, x) }
