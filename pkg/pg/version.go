package pg

import (
	"fmt"
	"strconv"
	"strings"
)

// MinServerMajor is the oldest major version of PostgreSQL that is supported: the oldest
// that tests run on.
const MinServerMajor = 15

// checkServer says why a server of a version will not do, or nil. The version is the
// parameter server_version, such as "15.4 (Debian 15.4-1)".
func checkServer(version string) error {
	text, _, _ := strings.Cut(version, " ")
	digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	if major, err := strconv.Atoi(digits); err == nil && major >= MinServerMajor {
		return nil
	}
	return fmt.Errorf("the PostgreSQL server is version %s, and Rotaloom needs %d or newer", text, MinServerMajor)
}
