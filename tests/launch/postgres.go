package launch

import (
	"net/url"
	"path/filepath"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// PrivatePostgres returns a function with the superuser's URLs of the databases on the private
// server of a standalone process, by its state folder.
func PrivatePostgres(stateDir string) (databaseURL func(database string) string) {
	query := url.Values{
		"host": {filepath.Join(stateDir, "postgresql", "run")}, "port": {"5432"}, "user": {"postgres"}, "sslmode": {"disable"},
	}
	return func(database string) string { return "postgres:///" + database + "?" + pg.EncodeQuery(query) }
}
