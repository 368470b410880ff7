package tenants

import (
	"testing"

	"github.com/rotaloom/rotaloom/tests/launch"
)

func TestMain(m *testing.M) { launch.MainWithCheapPasswords(m) }
