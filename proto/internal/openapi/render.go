package openapi

import (
	"bytes"
	"encoding/json"

	"go.yaml.in/yaml/v3"
)

// JSON returns the description as indented JSON.
func (d *Document) JSON() ([]byte, error) {
	data, err := plainJSON(d)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", " "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// YAML returns the description as YAML, in the order of the JSON.
func (d *Document) YAML() ([]byte, error) {
	data, err := plainJSON(d)
	if err != nil {
		return nil, err
	}
	var root yaml.Node
	// JSON is valid YAML, but in a style that is hard to read.
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, err
	}
	block(&root)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&root); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// block selects the block style for collections, and lets the encoder choose quotes.
func block(node *yaml.Node) {
	node.Style = 0
	for _, child := range node.Content {
		block(child)
	}
}
