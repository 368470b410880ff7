// Package baseline starts the baseline of reads: a bare handler that selects the product's bytes
// from its own tables.
package baseline

import (
	"net"
	"path/filepath"
	"time"

	"github.com/rotaloom/rotaloom/pkg/boot/certs"
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
CREATE TEMPORARY TABLE shown (LIKE shift);`

// repeatShifts stores the shifts of one cycle of the rotations, and those of the cycles after it.
// The ids of an item of a rotation follow its days.
const repeatShifts = `
INSERT INTO shift
SELECT employee_id, day + d, id + d, start_minute, end_minute, label, version, assignment_id, segments
FROM shown CROSS JOIN generate_series(0, $1::int - $2::int, $2::int) AS d
ORDER BY employee_id, day + d`

// StartShifts starts the process that reads the stored shifts.
func StartShifts(h *harness.Host, t Target) (string, *launch.Process, error) {
	return start(h, t, "baseline")
}

// start runs the process on its database, and returns its URL.
func start(h *harness.Host, t Target, database string) (string, *launch.Process, error) {
	ca, err := certs.OpenLocalCA(t.TLSDir, time.Now())
	if err != nil {
		return "", nil, err
	}
	files, err := ca.Issue("baseline", t.Host)
	if err != nil {
		return "", nil, err
	}
	address, err := harness.FreeAddress(t.Host)
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

// Target is the product that the baseline is compared with.
type Target struct {
	API scenario.API
	// Host is the address of this machine on which the baseline listens.
	Host string
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
		API: api, Host: harness.Loopback, TLSDir: filepath.Dir(server.CAFile), Postgres: launch.PrivatePostgres(server.StateDir), PID: server.Process.Process.Pid,
		Used: func(pid int) (time.Duration, error) { return harness.ProcessorTimes(pid, postmaster) },
	}, nil
}
