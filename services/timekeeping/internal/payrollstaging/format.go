package payrollstaging

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// jsonType is the content type of JSON exports.
const jsonType = "application/json;charset=utf-8"

// format writes rows in the format of an export.
type format interface {
	// row writes a row, and returns the number of bytes that take would return.
	row(values []string) (size int, err error)
	// end writes the text after the last row.
	end()
	// take returns the text that was written since the last call.
	take() []byte
}

// isJSON reports whether an export has the format JSON.
func isJSON(config *timekeepingv1.PayrollExportConfig) bool {
	return strings.EqualFold(config.GetFormat(), "JSON")
}

// checkFormat returns an error if the export cannot be written in its format.
func checkFormat(req *timekeepingv1.PayrollExportRequest, columns []column) error {
	config := req.GetExportConfig()
	if _, err := parseDelimiter(config); err != nil {
		return err
	}
	switch {
	case config.GetFormat() == "", strings.EqualFold(config.GetFormat(), "CSV"):
		return nil
	case !isJSON(config):
		return invalid("exportConfig.format: %q is neither CSV nor JSON.", config.GetFormat())
	case len(req.GetHeaders())+len(req.GetFooters()) > 0:
		return invalid("headers and footers are lines of CSV. Leave them out of an export in JSON.")
	}
	names := map[string]bool{}
	for _, c := range columns {
		if names[c.name] {
			return invalid("query: two columns are called %q, and an object of JSON has one of them. Rename one with AS.", c.name)
		}
		names[c.name] = true
	}
	return nil
}

// begin begins a text with the columns of these names. The content type is "" for CSV, because that
// is the type of the contract.
func begin(req *timekeepingv1.PayrollExportRequest, names []string, config CSVConfig) (f format, contentType string, err error) {
	if isJSON(req.GetExportConfig()) {
		f, err = beginJSON(names)
		return f, jsonType, err
	}
	f, err = beginCSV(req, names, config)
	return f, "", err
}

// CSVConfig configures exports in CSV. Every field works at its zero value.
type CSVConfig struct {
	RawCells      bool `name:"payroll-csv-raw-cells" help:"Write the cells of payroll exports in CSV as they are, also those that spreadsheets take for formulas. Otherwise a cell that begins with =, +, -, @, a tab or a line break, and is no number, gets an apostrophe before it."`
	ByteOrderMark bool `name:"payroll-csv-bom" help:"Begin payroll exports in CSV with a byte order mark, by which some spreadsheets know UTF-8."`
}

const byteOrderMark = "\ufeff"

// csvRows writes rows as CSV.
type csvRows struct {
	raw     bool
	buf     bytes.Buffer
	csv     *csv.Writer
	footers []string
}

func beginCSV(req *timekeepingv1.PayrollExportRequest, names []string, config CSVConfig) (*csvRows, error) {
	c := &csvRows{raw: config.RawCells, footers: req.GetFooters()}
	if config.ByteOrderMark {
		c.buf.WriteString(byteOrderMark)
	}
	c.csv = csv.NewWriter(&c.buf)
	var err error
	if c.csv.Comma, err = parseDelimiter(req.GetExportConfig()); err != nil {
		return nil, err
	}
	for _, line := range req.GetHeaders() {
		c.buf.WriteString(line + "\n")
	}
	_, err = c.row(names)
	return c, err
}

// number matches cells that begin with a sign and are not formulas.
var number = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?$`)

// neutral returns a cell that spreadsheets treat as text: a cell that begins like a formula gets a
// leading apostrophe. Numbers stay numbers.
func neutral(cell string) string {
	if cell == "" || !strings.ContainsRune("=+-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20", firstRune(cell)) || number.MatchString(cell) {
		return cell
	}
	return "'" + cell
}

func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

func (c *csvRows) row(values []string) (int, error) {
	if !c.raw {
		values = slices.Clone(values)
		for i, v := range values {
			values[i] = neutral(v)
		}
	}
	if err := c.csv.Write(values); err != nil {
		return 0, fmt.Errorf("write CSV: %w", err)
	}
	return c.buf.Len(), nil
}

func (c *csvRows) end() {
	c.csv.Flush()
	for _, line := range c.footers {
		c.buf.WriteString(line + "\n")
	}
}

func (c *csvRows) take() []byte {
	c.csv.Flush()
	return drain(&c.buf)
}

// drain returns the bytes of a buffer, and empties the buffer.
func drain(buf *bytes.Buffer) []byte {
	out := bytes.Clone(buf.Bytes())
	buf.Reset()
	return out
}

// jsonRows writes rows as objects in a JSON array.
type jsonRows struct {
	buf bytes.Buffer
	// keys are the names of the columns as JSON texts.
	keys [][]byte
	some bool
}

func beginJSON(names []string) (*jsonRows, error) {
	j := &jsonRows{keys: make([][]byte, len(names))}
	for i, name := range names {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("write JSON: %w", err)
		}
		j.keys[i] = append(key, ':')
	}
	j.buf.WriteByte('[')
	return j, nil
}

func (j *jsonRows) row(values []string) (int, error) {
	if j.some {
		j.buf.WriteByte(',')
	}
	j.some = true
	for i, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			return 0, fmt.Errorf("write JSON: %w", err)
		}
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		j.buf.WriteByte(separator)
		j.buf.Write(j.keys[i])
		j.buf.Write(text)
	}
	j.buf.WriteByte('}')
	return j.buf.Len(), nil
}

func (j *jsonRows) end() { j.buf.WriteByte(']') }

func (j *jsonRows) take() []byte { return drain(&j.buf) }
