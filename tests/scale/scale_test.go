package scale_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scale"
)

var update = flag.Bool("update", false, "write the table into the page")

const (
	begin = "<!-- the table of go run ./tests/cmd/scale -->\n"
	end   = "<!-- the end of it -->\n"
)

// usual is the load that the page is about.
func usual(t *testing.T) scale.Load {
	t.Helper()
	var load scale.Load
	parser, err := kong.New(&load)
	require.NoError(t, err)
	_, err = parser.Parse(nil)
	require.NoError(t, err)
	return load
}

// The table of the page equals the output of the command for the figures of the page.
func TestTheTableFollowsFromTheFigures(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "scale.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	figures, err := scale.Read(strings.NewReader(string(text)))
	require.NoError(t, err)
	var table strings.Builder
	require.NoError(t, figures.Write(&table, usual(t)))
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found)
	_, after, found := strings.Cut(rest, end)
	require.True(t, found)
	want := before + begin + table.String() + end + after
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text), "go test ./tests/scale -update")
}

const printed = `
figure           measured              floor  ratio  bar
get-week         400 µs (380-420)      -      -      <= 3      pass
get-week         900 µs                another run
read-standalone  50.0 ms (49.0-51.0)   -      -
password-grants  40.0 grants/s (39-41) -      -
million          36.0 µs               -      -
storage          10.0 kB               -      -
wal              720 B (700-740)       -      -
memory           300 MiB               -      -
`

func TestSizes(t *testing.T) {
	t.Parallel()
	figures, err := scale.Read(strings.NewReader(printed))
	require.NoError(t, err)
	load := scale.Load{Weeks: 2, LogIns: 0.5, Planned: 5, Changed: 1}
	small := figures.Of(1_000, load)
	assert.Equal(t, 14, small.Instances, "two of each program")
	assert.Equal(t, 14*16, small.Connections)

	large := figures.Of(3_600_000, load)
	assert.InDelta(t, 2510, large.Requests, 0.01, "2.51 in the hour for each")
	// 3.6 million times half a log-in of 2/40 s, in half of an hour.
	assert.InDelta(t, 50, large.AuthCores, 1e-9)
	// 2 x 400 µs, 5 x 2 x 50 ms / 500, and 2 x 36 µs.
	assert.InDelta(t, 2000*(800e-6+1000e-6+72e-6), large.OtherCores, 1e-9)
	assert.Equal(t, 25+12, large.Instances)
	assert.InDelta(t, 36e9, large.Storage, 1)
	assert.InDelta(t, 3.6e6*720, large.Log, 1)
	assert.InDelta(t, 129.6, large.ChangeOfAll, 1e-9)
}

func TestAFigureIsMissing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"get-week", "read-standalone", "password-grants", "million", "storage", "wal", "memory"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := scale.Read(strings.NewReader(strings.ReplaceAll(printed, "\n"+name+" ", "\nno"+name+" ")))
			require.ErrorContains(t, err, "the figure "+name+" ")
		})
	}
}
