package mp3

import (
	"math"
	"sync"
)

// buildQuarterPowers makes the table of quarterPower up to the highest global gain.
func buildQuarterPowers() (t [quarterBias + 255 - 210 + 1]float32) {
	for i := range t {
		t[i] = float32(math.Exp2(float64(i-quarterBias) / 4))
	}
	return t
}

// buildTables makes the tables that are too large to be made when the program starts. Every decoder
// calls it before anything else.
var buildTables = sync.OnceFunc(func() {
	buildPow43()
	buildHuffman()
	buildWindows()
	buildSynthesis()
})
