package launch

import (
	"errors"
	"fmt"
	"os"
	"testing"
)

// passwordMemory is the setting for the memory of password hashes, in KiB.
const passwordMemory = "ROTALOOM_PASSWORD_MEMORY"

// MainWithCheapPasswords is the TestMain of a package whose tests log in thousands of times for
// other purposes: the programs that they start hash passwords at minimal cost.
func MainWithCheapPasswords(m *testing.M) {
	err := errors.Join(os.Setenv(passwordMemory, "64"), os.Setenv("ROTALOOM_PASSWORD_TIME", "1"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "launch:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
