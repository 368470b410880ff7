package launch

import (
	"net/url"
	"path/filepath"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// PrivatePostgres returns how the superuser reaches the databases of the private server
// that a standalone process with the folder has.
func PrivatePostgres(stateDir string) (databaseURL func(database string) string) {
	query := url.Values{
		"host": {filepath.Join(stateDir, "postgresql", "run")}, "port": {"5432"}, "user": {"postgres"}, "sslmode": {"disable"},
	}
	return func(database string) string { return "postgres:///" + database + "?" + pg.EncodeQuery(query) }
}
