package contract_test

import (
	"os"
	"testing"

	"github.com/rotaloom/rotaloom/tests/launch"
)

func TestMain(m *testing.M) {
	launch.CheapPasswords()
	os.Exit(m.Run())
}
