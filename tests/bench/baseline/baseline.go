// Package baseline starts the baseline of reads: a bare handler that selects the product's bytes
// from its own tables.
package baseline

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// shiftTables store shifts in the obvious way, without spans. Segments are five bytes each: kind,
// first and last minute of the day.
const shiftTables = `
CREATE TABLE employee (id bigint PRIMARY KEY, person_number text NOT NULL);
CREATE TABLE shift (
    employee_id bigint, day date, id bigint NOT NULL, start_minute smallint NOT NULL, end_minute smallint NOT NULL,
    label text NOT NULL, version bigint NOT NULL, assignment_id bigint NOT NULL, segments bytea NOT NULL,
    PRIMARY KEY (employee_id, day)
);
CREATE TEMPORARY TABLE shown (employee_id bigint, day date, id bigint, version bigint);`

// fillShifts creates a shift for every employee on each day of three months. Shifts that the
// product shows get its ids and versions.
const fillShifts = `
INSERT INTO shift
SELECT e.id, d, coalesce(s.id, 0), 480, 990, $1, coalesce(s.version, 0), $2, $3
FROM employee e CROSS JOIN generate_series('2026-02-01'::date, '2026-04-30', '1 day') AS d
LEFT JOIN shown s ON s.employee_id = e.id AND s.day = d
ORDER BY e.id, d`

// segments are the segments of everyDay.
var segments = []byte{1, 480 >> 8, 480 & 0xff, 720 >> 8, 720 & 0xff, 2, 720 >> 8, 720 & 0xff, 750 >> 8, 750 & 0xff, 1, 750 >> 8, 750 & 0xff, 990 >> 8, 990 & 0xff}

// StartShifts stores the shifts in a response of the product as one row each, together with rows
// for the rest of the crew. It starts the process that reads them, and returns the process's URL
// and id.
func StartShifts(h *harness.Host, t Target, crew *scenario.Crew, body []byte) (string, int, error) {
	if err := fillTables(h.Context(), t, crew, body); err != nil {
		return "", 0, fmt.Errorf("the baseline's tables: %w", err)
	}
	url, process, err := start(h, t, "baseline")
	if err != nil {
		return "", 0, err
	}
	return url, process.Process.Pid, nil
}

// start runs the process on its database, and returns its URL.
func start(h *harness.Host, t Target, database string) (string, *launch.Process, error) {
	ca, err := certs.OpenLocalCA(t.TLSDir, time.Now())
	if err != nil {
		return "", nil, err
	}
	files, err := ca.Issue("localhost")
	if err != nil {
		return "", nil, err
	}
	address, err := harness.FreeAddress()
	if err != nil {
		return "", nil, err
	}
	process := launch.Start(h, launch.Build(h, "tests/cmd/baseline"), nil,
		"-listen", address, "-database-url", t.Postgres(database), "-cert", files.Cert, "-key", files.Key)
	launch.Await(h, 10*time.Second, "the baseline listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return "https://" + address, process, nil
}

// storedShift is the baseline's data about a shift.
type storedShift struct {
	scenario.ShiftOf
	Version   int64
	Relations []struct{ From struct{ ID int64 } }
}

func fillTables(ctx context.Context, t Target, crew *scenario.Crew, body []byte) error {
	var shown struct{ Shifts []storedShift }
	if err := json.Unmarshal(body, &shown); err != nil {
		return err
	}
	if len(shown.Shifts) == 0 {
		return fmt.Errorf("the product shows no shifts")
	}
	if err := fixture.Execute(ctx, t.Postgres("postgres"), "CREATE DATABASE baseline"); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, t.Postgres("baseline"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, shiftTables); err != nil {
		return err
	}
	if err := copyShifts(ctx, conn, crew, shown.Shifts); err != nil {
		return err
	}
	first := shown.Shifts[0]
	_, err = conn.Exec(ctx, fillShifts, first.Label, first.Relations[0].From.ID, segments)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "VACUUM (ANALYZE) employee, shift")
	return err
}

// copyShifts stores the employees, and the ids of the shown shifts.
func copyShifts(ctx context.Context, conn *pgx.Conn, crew *scenario.Crew, shifts []storedShift) error {
	numbers := map[int64]string{}
	for _, s := range shifts {
		numbers[s.Employee.ID] = s.Employee.Qualifier
	}
	_, err := conn.CopyFrom(ctx, pgx.Identifier{"employee"}, []string{"id", "person_number"},
		pgx.CopyFromSlice(len(crew.Persons), func(i int) ([]any, error) {
			return []any{crew.Persons[i], numbers[crew.Persons[i]]}, nil
		}))
	if err != nil {
		return err
	}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"shown"}, []string{"employee_id", "day", "id", "version"},
		pgx.CopyFromSlice(len(shifts), func(i int) ([]any, error) {
			day, err := time.Parse(time.DateOnly, shifts[i].StartDateTime[:len(time.DateOnly)])
			return []any{shifts[i].Employee.ID, day, shifts[i].ID, shifts[i].Version}, err
		}))
	return err
}

// Target is the product that the baseline is compared with.
type Target struct {
	API scenario.API
	// Postgres is the URL of a database of the same server for its superuser.
	Postgres func(database string) string
	// TLSDir is the folder of the authority that issued the target's certificate.
	TLSDir string
	// Used returns the processor time that a process and the database server have used. It is nil
	// if it is not needed.
	Used func(pid int) (time.Duration, error)
	// PID is the id of the product's process, if there is one.
	PID int
}

// Beside returns the Target of a standalone process with its private database server.
func Beside(api scenario.API, server *launch.Server) (Target, error) {
	postmaster, err := harness.FirstNumber(filepath.Join(server.StateDir, "postgresql", "data", "postmaster.pid"))
	if err != nil {
		return Target{}, err
	}
	return Target{
		API: api, TLSDir: filepath.Dir(server.CAFile), Postgres: launch.PrivatePostgres(server.StateDir), PID: server.Process.Process.Pid,
		Used: func(pid int) (time.Duration, error) { return harness.ProcessorTimes(pid, postmaster) },
	}, nil
}
