package pg

import (
	"fmt"
	"strconv"
	"strings"
)

// MinServerMajor is the oldest supported major version of PostgreSQL: the oldest one in the tests.
const MinServerMajor = 15

// checkServer returns an error if the version of the server is too old. The version is the
// parameter server_version, such as "15.4 (Debian 15.4-1)".
func checkServer(version string) error {
	text, _, _ := strings.Cut(version, " ")
	digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	if major, err := strconv.Atoi(digits); err == nil && major >= MinServerMajor {
		return nil
	}
	return fmt.Errorf("the PostgreSQL server is version %s, and Rotaloom needs %d or newer", text, MinServerMajor)
}
