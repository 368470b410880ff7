package contracts

import (
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/reflect/protoregistry"
)

func TestEveryContractIsLinked(t *testing.T) {
	files, err := filepath.Glob("../api/rotaloom/*/v1/*.proto")
	if err != nil || len(files) == 0 {
		t.Fatalf("no contracts found: %v", err)
	}
	for _, file := range files {
		path, err := filepath.Rel("../api", file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := protoregistry.GlobalFiles.FindFileByPath(filepath.ToSlash(path)); err != nil {
			t.Errorf("%s is not linked: import its package here", path)
		}
	}
}
