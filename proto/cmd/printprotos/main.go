// Command printprotos writes the .proto sources of the imported Google and
// validation files into a folder, from the descriptors that the pinned Go
// modules register. buf needs sources for imports; printing them keeps them
// equal to the generated code that we link, and needs no network.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	_ "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/jhump/protoreflect/v2/protoprint"
	_ "google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// imported are the files that our contracts import, with what those import.
var imported = []string{
	"google/api/http.proto",
	"google/api/annotations.proto",
	"buf/validate/validate.proto",
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: printprotos FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "printprotos:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	printer := &protoprint.Printer{}
	for _, path := range imported {
		file, err := protoregistry.GlobalFiles.FindFileByPath(path)
		if err != nil {
			return fmt.Errorf("%s is not linked: %w", path, err)
		}
		if err := write(printer, file, filepath.Join(folder, path)); err != nil {
			return fmt.Errorf("print %s: %w", path, err)
		}
	}
	return nil
}

func write(printer *protoprint.Printer, file protoreflect.FileDescriptor, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if err := printer.PrintProtoFile(file, out); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
