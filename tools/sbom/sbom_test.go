package main

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime"
	"testing"
)

// The test is a Go program too.
func TestMaterialsOfThisProgram(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	if err := write(&first, self); err != nil {
		t.Fatal(err)
	}
	if err := write(&second, self); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two bills of one program differ")
	}
	var bill struct {
		BOMFormat  string `json:"bomFormat"`
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(first.Bytes(), &bill); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, c := range bill.Components {
		found[c.Name] = c.Version
	}
	if bill.BOMFormat != "CycloneDX" || found["stdlib"] != runtime.Version() || found["github.com/CycloneDX/cyclonedx-go"] == "" {
		t.Errorf("%s with %v", bill.BOMFormat, found)
	}
	if err := write(&first, os.DevNull); err == nil {
		t.Error("a file that is not a program has a bill")
	}
}
