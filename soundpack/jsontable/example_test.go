package jsontable_test

import (
	"fmt"

	"github.com/sndpak/sndpak/soundpack/jsontable"
)

// The keys of a table are written once, and come back with their values.
func ExamplePack() {
	packed, _, err := jsontable.Pack([]byte(`[ {"id": 1, "name": "axe"}, {"id": 2, "name": "bow"} ]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(packed))
	plain, err := jsontable.Plain(packed, 1<<20)
	fmt.Println(string(plain), err)
	// Output:
	// {"key":["id","name"],"list":[{"0":1,"1":"axe"},{"0":2,"1":"bow"}]}
	// [{"id":1,"name":"axe"},{"id":2,"name":"bow"}] <nil>
}
