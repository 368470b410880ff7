package hyperfind

import (
	"testing"

	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
