package payrollstaging

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// A spreadsheet takes no cell for a formula, and every number for one.
func TestCellsAreNoFormulas(t *testing.T) {
	t.Parallel()
	write := func(t *testing.T, config CSVConfig, cell string) string {
		t.Helper()
		f, _, err := begin(&timekeepingv1.PayrollExportRequest{Headers: []string{"=as it was sent"}}, []string{"a", cell}, config)
		require.NoError(t, err)
		_, err = f.row([]string{cell, "b"})
		require.NoError(t, err)
		f.end()
		return string(f.take())
	}
	for name, test := range map[string]struct{ cell, want string }{
		"text":                  {"Ada", "Ada"},
		"nothing":               {"", ""},
		"a number":              {"1.50", "1.50"},
		"a number below zero":   {"-1.50", "-1.50"},
		"a number with a plus":  {"+7", "+7"},
		"a formula":             {"=1+1", "'=1+1"},
		"a formula with a sign": {"-1+1", "'-1+1"},
		"a plus":                {"+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"},
		"an at":                 {"@SUM(A1)", "'@SUM(A1)"},
		"a wide sign":           {"\uff1d1+1", "'\uff1d1+1"},
		"a sign within":         {"a=1", "a=1"},
		"only a sign":           {"-", "'-"},
		"a number and more":     {"-1;2", "'-1;2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, "=as it was sent\na,"+test.want+"\n"+test.want+",b\n", write(t, CSVConfig{}, test.cell))
			assert.Equal(t, "=as it was sent\na,"+test.cell+"\n"+test.cell+",b\n", write(t, CSVConfig{RawCells: true}, test.cell))
		})
	}
	assert.Equal(t, "=as it was sent\na,'\t=1\n'\t=1,b\n", write(t, CSVConfig{}, "\t=1"))
	assert.Equal(t, "=as it was sent\na,\"'\r\"\n\"'\r\",b\n", write(t, CSVConfig{}, "\r"))
	assert.Equal(t, "\ufeff=as it was sent\na,b\nb,b\n", write(t, CSVConfig{ByteOrderMark: true}, "b"))
}
