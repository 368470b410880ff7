// Package openapi holds the description of the HTTP API.
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
