package hyperfind

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/commons/migrations"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func newPool(t *testing.T) *pg.Pool {
	t.Helper()
	sets, err := serve.Migrations("commons_version", migrations.FS)
	require.NoError(t, err)
	return pgtest.New(t, sets...)
}
