package soundpack

// plainSize is the length of an entry as it is read.
func (p *Pack) plainSize(e Entry) int64 { return e.Size }
