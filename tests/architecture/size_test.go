package architecture

import (
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
)

// maxFiles bounds the files of a package, without tests: one with more has a second
// purpose as a rule.
const maxFiles = 15

// largePackages are those with more, with how many they may have and why they are whole.
var largePackages = map[string]struct {
	files int
	why   string
}{
	"gateway/transcode": {17, "both directions run over one compiled plan, whose fields are nobody else's"},
	"services/scheduling/internal/schedule/encoding": {17, "one form of a schedule on the wire: a file for each kind of entry, over the templates that all share"},
	"services/scheduling/internal/schedule/reading":  {17, "one read of a schedule: a file for each kind of entry, over the rows that one statement returns"},
}

func TestPackagesAreOfOnePurpose(t *testing.T) {
	t.Parallel()
	files := map[string]int{}
	count := func(name, _ string) { files[path.Dir(name)]++ }
	eachFile(t, count)
	eachFileOf(t, "gateway", count)
	eachFileOf(t, "tests", count)
	assert.Greater(t, len(files), 100)
	for dir, n := range files {
		allowed := maxFiles
		if large, ok := largePackages[dir]; ok {
			allowed = large.files
			assert.Equal(t, large.files, n, "%s has another number of files: say so here, and split it when it grows", dir)
		}
		assert.LessOrEqual(t, n, allowed, "%s has %d files: split it, or say here why not", dir, n)
	}
	for dir := range largePackages {
		assert.Positive(t, files[dir], "%s is not there any more", dir)
	}
}
