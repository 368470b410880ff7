package architecture

import (
	"bytes"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
)

// maxLines bounds the lines of a package, without tests. A larger package usually has a second
// purpose.
const maxLines = 2000

// largePackages lists the packages above maxLines, with their bounds and the reasons against
// splitting them.
var largePackages = map[string]struct {
	lines int
	why   string
}{
	"gateway":           {2300, "the chain of one request, whose steps share its state"},
	"gateway/transcode": {2900, "both directions run over one compiled plan, whose fields no other package sees"},
	"services/scheduling/internal/patternassignment": {3200, "the changes of an assignment and their undo share its checks and its locks; duplicates, warnings and proposals come from the same decisions"},
	"services/scheduling/internal/schedule/reading":  {2700, "one read of a schedule: a file for each kind of entry, over the stored rows; explanations and previews come from the same steps"},
	"services/timekeeping/internal/leaveedit":        {2400, "the edits of a leave case share its balance and its report to scheduling"},
	"services/timekeeping/internal/payrollstaging":   {2800, "runs, exports and cancellations share the rows of the ledger"},
	"services/timekeeping/internal/timeoff":          {2200, "the states of a request share its pay code edits"},
}

func TestPackagesHaveOnePurpose(t *testing.T) {
	t.Parallel()
	lines := map[string]int{}
	count := func(name, file string) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lines[path.Dir(name)] += bytes.Count(text, []byte("\n"))
	}
	eachFile(t, count)
	eachModuleFile(t, "gateway", count)
	eachModuleFile(t, "tests", count)
	assert.Greater(t, len(lines), 100)
	for dir, n := range lines {
		allowed := maxLines
		if large, ok := largePackages[dir]; ok {
			allowed = large.lines
			assert.Greater(t, n, maxLines, "%s is no longer large: remove it from largePackages", dir)
		}
		assert.LessOrEqual(t, n, allowed, "%s has %d lines: split it, or add the reason against that to largePackages", dir, n)
	}
	for dir := range largePackages {
		assert.Positive(t, lines[dir], "%s does not exist", dir)
	}
}

// maxLinesOfOperation bounds the lines of code of the recruiting service for each of its operations. Above it, the
// declared setup resources and records no longer do the common work.
const maxLinesOfOperation = 40

func TestOperationsOfRecruitingAreShort(t *testing.T) {
	t.Parallel()
	var lines, operations int
	eachModuleFile(t, "services/recruiting", func(_, file string) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
	})
	for _, o := range contract.Operations() {
		if strings.HasPrefix(o.Name, "rotaloom.recruiting.") {
			operations++
		}
	}
	require.Greater(t, operations, 100)
	t.Logf("%d lines without comments and tests, %d operations: %.1f lines for each", lines, operations, float64(lines)/float64(operations))
	assert.LessOrEqual(t, lines, maxLinesOfOperation*operations)
}
