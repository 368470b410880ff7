// Command protoc-gen-openapi is a protoc plugin that describes the HTTP API of
// the contracts as OpenAPI 3.1. Its parameter cases=FOLDER names the contract
// cases, which show the errors of operations, and examples=FOLDER the examples. It writes openapi.json and openapi.yaml, and a
// Go file that embeds both; with table=true it writes operations.md instead, a
// table for readers.
package main

import (
	"errors"
	"flag"
	"os"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/rotaloom/rotaloom/proto/internal/openapi"
)

const embed = `// Package openapi holds the description of the HTTP API.
package openapi

import _ "embed" // for the documents

// JSON is the description as JSON.
//
//go:embed openapi.json
var JSON []byte

// YAML is the description as YAML.
//
//go:embed openapi.yaml
var YAML []byte
`

func main() {
	var flags flag.FlagSet
	cases := flags.String("cases", "", "folder of the contract cases")
	examples := flags.String("examples", "", "folder of the examples")
	table := flags.Bool("table", false, "write the table of operations only")
	protogen.Options{ParamFunc: flags.Set}.Run(func(plugin *protogen.Plugin) error {
		plugin.SupportedFeatures = uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL)
		document, err := openapi.Generate(plugin.Files, os.DirFS(*cases), os.DirFS(*examples))
		if err != nil {
			return err
		}
		if *table {
			return write(plugin, "operations.md", document.Table())
		}
		return writeDocument(plugin, document)
	})
}

func writeDocument(plugin *protogen.Plugin, document *openapi.Document) error {
	json, err := document.JSON()
	if err != nil {
		return err
	}
	yaml, err := document.YAML()
	if err != nil {
		return err
	}
	return errors.Join(
		write(plugin, "openapi.json", json),
		write(plugin, "openapi.yaml", yaml),
		write(plugin, "openapi.go", []byte(embed)),
	)
}

func write(plugin *protogen.Plugin, name string, data []byte) error {
	_, err := plugin.NewGeneratedFile(name, "").Write(data)
	return err
}
