package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// linesType is the content type of responses that are lines of JSON.
const linesType = "application/x-ndjson"

// listLines returns lines of JSON as an array. Each value needs one line of its own.
func listLines(body []byte) ([]byte, error) {
	if len(body) == 0 {
		return []byte("[]"), nil
	}
	whole, complete := bytes.CutSuffix(body, []byte("\n"))
	if !complete {
		return nil, fmt.Errorf("the last line has no end: %s", cut(body))
	}
	lines := bytes.Split(whole, []byte("\n"))
	for _, line := range lines {
		if !json.Valid(line) {
			return nil, fmt.Errorf("a line is not JSON: %q", cut(line))
		}
	}
	return append(append([]byte("["), bytes.Join(lines, []byte(","))...), ']'), nil
}

// checkLines checks an array of lines against the schema of the whole response. Each line of an array is an item, and
// each line of an object has the form of the whole.
func (d *description) checkLines(way []string, body []byte) error {
	schema, err := d.schema(way)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	lines, ok := value.([]any)
	if !ok {
		return errors.New("the lines are not a list")
	}
	if schema.Validate([]any{}) == nil {
		return schema.Validate(lines)
	}
	for i, line := range lines {
		if err := schema.Validate(line); err != nil {
			return fmt.Errorf("line %d is not as the API description says: %w", i+1, err)
		}
	}
	return nil
}
