package jsontable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPack(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{`[{"a":1,"b":2}]`, `{"key":["a","b"],"list":[{"0":1,"1":2}]}`},
		{" [ { \"id\" : 1 , \"n\" : \"a b\" } ,\n{\"id\":2,\"n\":\"\\u00e9\\\"]}\"} ]\t", `{"key":["id","n"],"list":[{"0":1,"1":"a b"},{"0":2,"1":"\u00e9\"]}"}]}`},
		{`[{"a":1,"b":2},{"b":3,"a":4}]`, `{"key":["a","b"],"list":[{"0":1,"1":2},{"1":3,"0":4}]}`},
		{`[{"n":9007199254740993},{"n":-0.10000000000000000555},{"n":1E400}]`, `{"key":["n"],"list":[{"0":9007199254740993},{"0":-0.10000000000000000555},{"0":1E400}]}`},
		{`[{"a":{"x":[1,{"y":2}]}},{"a":[]}]`, `{"key":["a"],"list":[{"0":{"x":[1,{"y":2}]}},{"0":[]}]}`},
		{`[{"":1}]`, `{"key":[""],"list":[{"0":1}]}`},
		// only minified
		{`{"key": ["a"], "list": [{"0": 1}]}`, `{"key":["a"],"list":[{"0":1}]}`},
		{`[ ]`, `[]`}, {`[{}]`, `[{}]`}, {`[{},{}]`, `[{},{}]`}, {`[1, {"a": 1}]`, `[1,{"a":1}]`}, {`[{"a":1}, 2]`, `[{"a":1},2]`},
		{`[{"a":1},{"b":1}]`, `[{"a":1},{"b":1}]`}, {`[{"a":1},{"a":1,"b":2}]`, `[{"a":1},{"a":1,"b":2}]`}, {`[{"a":1,"b":2},{"a":1}]`, `[{"a":1,"b":2},{"a":1}]`},
		{`[{"a":1,"a":2}]`, `[{"a":1,"a":2}]`}, {`[{"a":1},{"a":1,"a":2}]`, `[{"a":1},{"a":1,"a":2}]`},
		{`[{"a":1},{"\u0061":2}]`, `[{"a":1},{"\u0061":2}]`},
		{` "x y" `, `"x y"`}, {` 1e5 `, `1e5`}, {`null`, `null`},
	} {
		out, table, err := Pack([]byte(c.in))
		if err != nil || string(out) != c.out {
			t.Errorf("Pack(%s): %s, %v; want %s", c.in, out, err, c.out)
			continue
		}
		if want := strings.HasPrefix(c.out, `{"key"`) && c.in[0] != '{'; table != want {
			t.Errorf("Pack(%s): table %v", c.in, table)
		}
		checkBack(t, []byte(c.in))
	}
}

// checkBack packs a document and compares what comes back with what Minify makes of it.
func checkBack(t *testing.T, doc []byte) {
	t.Helper()
	want, err := Minify(doc)
	if err != nil {
		t.Fatal(err)
	}
	out, table, err := Pack(doc)
	if err != nil {
		t.Fatal(err)
	}
	if !table {
		if !bytes.Equal(out, want) {
			t.Fatalf("%s is minified to %s, want %s", doc, out, want)
		}
		return
	}
	back, err := Plain(out, int64(len(want)))
	if err != nil || !bytes.Equal(back, want) {
		t.Fatalf("%s comes back as %s, %v; want %s", doc, back, err, want)
	}
	if _, err := Plain(out, int64(len(want))-1); !errors.Is(err, ErrTooLong) {
		t.Fatalf("%s: a limit one byte short: %v", doc, err)
	}
	packed, err := Open(out, true)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Open(doc, false)
	if err != nil || packed.Len() != plain.Len() {
		t.Fatalf("%s: %d rows, want %d, %v", doc, packed.Len(), plain.Len(), err)
	}
	for i := range plain.Len() {
		a, err := packed.Row(i)
		b, err2 := plain.Row(i)
		if err != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s, row %d: %s, want %s (%v, %v)", doc, i, a, b, err, err2)
		}
	}
}

func TestPlainRefuses(t *testing.T) {
	for _, c := range []struct {
		in string
		is error
	}{
		{``, ErrSyntax}, {`{`, ErrSyntax}, {`[1,]`, ErrSyntax}, {`{"key":["a"],"list":[{"0":1}]} x`, ErrSyntax}, {"[\"\x01\"]", ErrSyntax},
		{`[]`, ErrShape}, {`1`, ErrShape}, {`{}`, ErrShape}, {`{"key":[]}`, ErrShape}, {`{"list":[],"key":[]}`, ErrShape},
		{`{"key":["a"],"list":[],"more":1}`, ErrShape}, {`{"key":[1],"list":[]}`, ErrShape}, {`{"key":"a","list":[]}`, ErrShape},
		{`{"key":["a"],"list":[1]}`, ErrShape}, {`{"key":["a"],"list":[{"1":1}]}`, ErrShape}, {`{"key":["a"],"list":[{"00":1}]}`, ErrShape},
		{`{"key":["a"],"list":[{"a":1}]}`, ErrShape}, {`{"key":["a"],"list":[{"":1}]}`, ErrShape}, {`{"key":["a"],"list":[{"-0":1}]}`, ErrShape},
		{`{"key":["a"],"list":[{"99999999999999999999":1}]}`, ErrShape},
	} {
		if out, err := Plain([]byte(c.in), 1<<20); !errors.Is(err, c.is) {
			t.Errorf("Plain(%s): %s, %v; want %v", c.in, out, err, c.is)
		}
	}
	// Others may leave members out of a row.
	if out, err := Plain([]byte(`{"key":["a","b"],"list":[{"1":2},{},{"1":3,"0":4}]}`), 99); err != nil || string(out) != `[{"b":2},{},{"b":3,"a":4}]` {
		t.Errorf("rows with members left out: %s, %v", out, err)
	}
}

// A small table that stands for very much is refused before anything is made of it.
func TestPlainBomb(t *testing.T) {
	bomb := []byte(`{"key":["` + strings.Repeat("x", 1<<20) + `"],"list":[{"0":1}` + strings.Repeat(`,{"0":1}`, 1<<17) + `]}`)
	n := testing.AllocsPerRun(1, func() {
		if _, err := Plain(bomb, 64<<20); !errors.Is(err, ErrTooLong) {
			t.Error(err)
		}
	})
	if n > 100 {
		t.Errorf("%v allocations", n)
	}
}

func TestDecode(t *testing.T) {
	out, _, err := Pack([]byte(`[{"id":1,"name":"axe"},{"name":"bow","id":9007199254740993}]`))
	if err != nil {
		t.Fatal(err)
	}
	table, err := Open(out, true)
	if err != nil {
		t.Fatal(err)
	}
	var row struct {
		ID   int64
		Name string
	}
	if err := table.Decode(1, &row); err != nil || row.ID != 1<<53+1 || row.Name != "bow" {
		t.Errorf("%+v, %v", row, err)
	}
	if _, err := Open([]byte(`{"a":1}`), false); !errors.Is(err, ErrShape) {
		t.Errorf("an object as an array: %v", err)
	}
}

// Random documents, many of them nearly tables.
func TestRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	tables := 0
	for range 5000 {
		doc := randomDoc(r)
		if !json.Valid(doc) {
			t.Fatalf("%s is not JSON", doc)
		}
		checkBack(t, doc)
		if _, table, _ := Pack(doc); table {
			tables++
		}
	}
	if tables < 1000 {
		t.Errorf("only %d of 5000 are tables", tables)
	}
}

func randomDoc(r *rand.Rand) []byte {
	keys := []string{`"id"`, `"na\"me"`, `"\u0001"`, `"ü"`, `""`, `"0"`}[:1+r.IntN(6)]
	var b strings.Builder
	b.WriteString("[")
	for i := range r.IntN(6) {
		if i > 0 {
			b.WriteString(" ,\n")
		}
		b.WriteString("{ ")
		order := r.Perm(len(keys))
		if r.IntN(20) == 0 {
			order = order[1:]
		}
		for n, k := range order {
			if n > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, "%s : %s", keys[k], randomValue(r, 3))
		}
		b.WriteString("}")
	}
	b.WriteString("]")
	return []byte(b.String())
}

func randomValue(r *rand.Rand, depth int) string {
	switch r.IntN(8) {
	case 0:
		if depth > 0 {
			return fmt.Sprintf("[%s, %s]", randomValue(r, depth-1), randomValue(r, depth-1))
		}
		return "[]"
	case 1:
		if depth > 0 {
			return fmt.Sprintf(`{"x": %s,"]": %s}`, randomValue(r, depth-1), randomValue(r, depth-1))
		}
		return "{ }"
	case 2:
		return fmt.Sprintf("%d%d.%de-%d", 1+r.IntN(9), r.Uint64(), r.Uint64(), r.IntN(400))
	case 3:
		return `"\\\"}],: \u00e9\n"`
	case 4:
		return "null"
	}
	return fmt.Sprint(r.Int64())
}

// FuzzTable takes any bytes as a document and as a table.
func FuzzTable(f *testing.F) {
	for _, s := range []string{`[{"a":1,"b":"x"},{"b":2,"a":3}]`, `{"key":["a"],"list":[{"0":1}]}`, `{"key":["a","a"],"list":[{"0":1,"1":[{}]}]}`, ` [ ] `, `[{"\"":"\\"}]`, "[{\"\xff\":1}]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if json.Valid(doc) {
			checkBack(t, doc)
		} else if _, _, err := Pack(doc); !errors.Is(err, ErrSyntax) {
			t.Fatalf("Pack: %v", err)
		}
		out, err := Plain(doc, 1<<16)
		if err == nil && (!json.Valid(out) || len(out) > 1<<16) {
			t.Fatalf("Plain gave %d bytes: %.100s", len(out), out)
		}
	})
}
