package baseline

import (
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
)

// StartResponses stores the product's responses by their positions in a database, and starts the
// process that reads them. It returns the process's URL and id.
func StartResponses(h *harness.Host, t Target, paths []string, database string) (string, int, error) {
	if err := fixture.Execute(h.Context(), t.Postgres("postgres"), "CREATE DATABASE "+database); err != nil {
		return "", 0, err
	}
	conn, err := pgx.Connect(h.Context(), t.Postgres(database))
	if err != nil {
		return "", 0, err
	}
	defer conn.Close(h.Context())
	if _, err := conn.Exec(h.Context(), "CREATE TABLE response (id bigint PRIMARY KEY, body bytea NOT NULL)"); err != nil {
		return "", 0, err
	}
	for i, path := range paths {
		_, body, err := t.API.Bytes(h.Context(), http.MethodGet, path, nil)
		if err != nil {
			return "", 0, err
		}
		if _, err := conn.Exec(h.Context(), "INSERT INTO response VALUES ($1, $2)", i, body); err != nil {
			return "", 0, err
		}
	}
	url, process, err := start(h, t, database)
	if err != nil {
		return "", 0, err
	}
	return url, process.Process.Pid, nil
}
