package jsontable

import "iter"

// Minified JSON that is known to be valid is cut at its commas and colons; nothing is taken apart further,
// and nothing recurs.

// items are the elements of an array.
func items(arr []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 1; i < len(arr) && arr[i] != ']'; {
			end := skip(arr, i)
			if !yield(arr[i:end]) {
				return
			}
			if i = end; i < len(arr) && arr[i] == ',' {
				i++
			}
		}
	}
}

// fields are the members of an object: each name as it is spelled, with its quotes, and the value. Of
// anything else there are none.
func fields(obj []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, val []byte) bool) {
		if obj[0] != '{' {
			return
		}
		for i := 1; i < len(obj) && obj[i] != '}'; {
			colon := skip(obj, i)
			end := skip(obj, colon+1)
			if !yield(obj[i:colon], obj[colon+1:end]) {
				return
			}
			if i = end; i < len(obj) && obj[i] == ',' {
				i++
			}
		}
	}
}

// skip is the end of the value that begins at i.
func skip(s []byte, i int) int {
	for depth := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i = quoteEnd(s, i)
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return i
}

// quoteEnd is the place of the quote that ends the string that begins at i.
func quoteEnd(s []byte, i int) int {
	for i++; s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i
}
