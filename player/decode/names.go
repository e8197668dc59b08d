package decode

// magic is what a file of a format starts with at offset at.
type magic struct {
	at    int
	magic string
	name  string
}

// names are the sound and container formats that are refused by name.
var names = []magic{
	{0, "riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00", "W64 (Sony Wave64)"},
	{0, "FORM", "AIFF"}, // narrowed by formName
	{0, "MThd", "MIDI"},
	{4, "ftyp", "MP4 or M4A"},
	{0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11", "WMA (ASF)"},
	{0, ".snd", "Sun AU"},
	{0, "dns.", "Sun AU"},
	{0, "caff", "CAF (Core Audio)"},
	{0, "MAC ", "Monkey's Audio"},
	{0, "wvpk", "WavPack"},
	{0, "MPCK", "Musepack"},
	{0, "MP+", "Musepack"},
	{0, "TTA1", "TTA (True Audio)"},
	{0, "TTA2", "TTA (True Audio)"},
	{0, "OFR ", "OptimFROG"},
	{0, "ajkg", "Shorten"},
	{0, "#!AMR", "AMR"},
	{0, "\x1a\x45\xdf\xa3", "Matroska or WebM"},
	{0, "Creative Voice File\x1a", "VOC (Creative Voice)"},
	{0, "Extended Module: ", "XM module"},
	{0, "IMPM", "IT module"},
	{44, "SCRM", "S3M module"},
	{1080, "M.K.", "MOD module"},
	{0, "DSD ", "DSF (DSD)"},
	{0, "FRM8", "DSDIFF (DSD)"},
	{0, "qoaf", "QOA"},
	{0, "FSB5", "FMOD sound bank"},
	{0, "FSB4", "FMOD sound bank"},
	{0, "BKHD", "Wwise sound bank"},
	{0, "WBND", "XACT wave bank"},
	{0, "RSTM", "BRSTM"},
	{0, "VAGp", "VAG"},
	{0, ".RMF", "RealMedia"},
	{0, ".ra\xfd", "RealAudio"},
	{0, "ADIF", "AAC (ADIF)"},
	{0, "FLV\x01", "Flash video"},
	{0, "NIST_1A", "NIST SPHERE"},
	{0, "2BIT", "AVR"},
	{0, "8SVX", "8SVX"},
	{0, "\xff\xf1", "AAC (ADTS)"},
	{0, "\xff\xf9", "AAC (ADTS)"},
	{0, "\x0b\x77", "AC-3"},
	{0, "\x7f\xfe\x80\x01", "DTS"},
}

// riffNames are the RIFF forms that are not WAVE.
var riffNames = map[string]string{
	"AVI ": "AVI video", "RMID": "MIDI in RIFF", "sfbk": "SoundFont", "WEBP": "WebP picture",
	"CDDA": "CD audio index", "CDXA": "CD-ROM XA", "DLS ": "DLS instruments", "ACON": "animated cursor",
	"XWMA": "xWMA", "FEV ": "FMOD event",
}

// knownName is the name of the format that head is known to be of, "" for none.
func knownName(head []byte) string {
	for _, k := range names {
		if end := k.at + len(k.magic); len(head) >= end && string(head[k.at:end]) == k.magic {
			return formName(k.name, head)
		}
	}
	return ""
}

// formName tells the forms of an IFF file apart.
func formName(name string, head []byte) string {
	if name != "AIFF" || len(head) < 12 {
		return name
	}
	switch string(head[8:12]) {
	case "AIFF":
		return "AIFF"
	case "AIFC":
		return "AIFF-C"
	case "8SVX":
		return "8SVX"
	case "XDIR":
		return "MIDI in IFF"
	}
	return "IFF"
}
