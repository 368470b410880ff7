package scheduleevent

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// NextRevision draws the revision of the states that a transaction is about to write: the time of
// its change in microseconds since 1970. The employees must be locked before.
const NextRevision = `SELECT change_revision()`

// eventBytes is the size at which published data is divided, well below the limit of an event.
const eventBytes = 256 << 10

func nextRevision(ctx context.Context, tx pgx.Tx) (revision int64, err error) {
	if err = tx.QueryRow(ctx, NextRevision).Scan(&revision); err != nil {
		err = fmt.Errorf("scheduleevent: take a revision: %w", err)
	}
	return revision, err
}

// maxJob is the longest path of a location, in bytes.
const maxJob = 2000

// unknownJob stands for a job that no location has.
const unknownJob = "\x01"

// JobName returns the name of a segment's job in events; see PatternStored.
func JobName(job *commonv1.Ref) string {
	path := job.GetQualifier()
	switch {
	case len(path) > maxJob || strings.ContainsAny(path, "\x00\x01"):
		return unknownJob
	case path == "" && job.GetId() != 0:
		return "\x01" + strconv.FormatInt(job.GetId(), 10)
	}
	return path
}

// jobs numbers the jobs of an event.
type jobs struct {
	list    []string
	numbers map[string]int32
	bytes   int
}

func (p *jobs) number(job string) int32 {
	n, exists := p.numbers[job]
	if !exists {
		if p.numbers == nil {
			p.numbers = map[string]int32{}
		}
		n = int32(len(p.list))
		p.list, p.numbers[job] = append(p.list, job), n
		p.bytes += len(job) + 3
	}
	return n
}

// rawSegment is a segment before its job is numbered. Its seconds count from the midnight that
// begins the shift's day.
type rawSegment struct {
	job        string
	start, end int32
}

// A shift is never divided. Segments beyond these limits are omitted, and jobs beyond them are
// unknown, so that an event that is not full has room for any shift.
const (
	maxSegments = 8192
	maxJobBytes = eventBytes / 2
)

func (p *jobs) segments(pieces []rawSegment) []*schedulingv1.JobSegment {
	pieces = pieces[:min(len(pieces), maxSegments)]
	room := p.bytes + maxJobBytes
	out := make([]*schedulingv1.JobSegment, len(pieces))
	for i, piece := range pieces {
		if _, exists := p.numbers[piece.job]; !exists && p.bytes+len(piece.job) > room {
			piece.job = unknownJob
		}
		out[i] = &schedulingv1.JobSegment{Job: p.number(piece.job), StartSecond: piece.start, EndSecond: piece.end}
	}
	return out
}

// breakSegment is the type of segments without work.
const breakSegment = "BREAK_SEGMENT"

// seconds converts two wall-clock times to seconds after the midnight of a day.
func seconds(day civil.Date, start, end string) (from, to int32, err error) {
	first, err := civil.ParseDateTime(start)
	if err != nil {
		return 0, 0, err
	}
	last, err := civil.ParseDateTime(end)
	after := func(t civil.DateTime) int32 { return int32(t.Date-day)*civil.SecondsPerDay + t.Seconds }
	return after(first), after(last), err
}

// full reports whether an event is large enough to start a new one.
func (p *jobs) full(size int) bool { return size+p.bytes >= eventBytes }

// listedSize returns the size of a message in a list.
func listedSize(m proto.Message) int { return proto.Size(m) + 4 }
