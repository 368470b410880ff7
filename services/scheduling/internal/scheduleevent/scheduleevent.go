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

// NextRevision asks for the revision of the states that a transaction is about
// to write, which is the time of its change in microseconds since 1970. The
// employees must be locked already.
const NextRevision = `SELECT change_revision()`

// eventBytes is the size from which on what is told is divided, well below what
// an event may have.
const eventBytes = 256 << 10

func nextRevision(ctx context.Context, tx pgx.Tx) (revision int64, err error) {
	if err = tx.QueryRow(ctx, NextRevision).Scan(&revision); err != nil {
		err = fmt.Errorf("scheduleevent: take a revision: %w", err)
	}
	return revision, err
}

// maxPlace is the longest path of a job, in bytes, that a location can have.
const maxPlace = 2000

// nowhere is a job that no location is.
const nowhere = "\x01"

// placeOf is how events name the job of a segment; see PatternStored.
func placeOf(job *commonv1.Ref) string {
	path := job.GetQualifier()
	switch {
	case len(path) > maxPlace || strings.ContainsAny(path, "\x00\x01"):
		return nowhere
	case path == "" && job.GetId() != 0:
		return "\x01" + strconv.FormatInt(job.GetId(), 10)
	}
	return path
}

// places numbers the places of an event.
type places struct {
	list    []string
	numbers map[string]int32
	bytes   int
}

func (p *places) number(place string) int32 {
	n, known := p.numbers[place]
	if !known {
		if p.numbers == nil {
			p.numbers = map[string]int32{}
		}
		n = int32(len(p.list))
		p.list, p.numbers[place] = append(p.list, place), n
		p.bytes += len(place) + 3
	}
	return n
}

// piece is a segment before its place has a number. Its seconds count from the
// midnight that begins the shift's day.
type piece struct {
	place      string
	start, end int32
}

// A shift is never divided. What of one is more than this is left out, and has no
// place, so that an event that is not full has room for any shift.
const (
	maxPieces     = 8192
	maxPlaceBytes = eventBytes / 2
)

func (p *places) segments(pieces []piece) []*schedulingv1.PlacedSegment {
	pieces = pieces[:min(len(pieces), maxPieces)]
	room := p.bytes + maxPlaceBytes
	out := make([]*schedulingv1.PlacedSegment, len(pieces))
	for i, piece := range pieces {
		if _, known := p.numbers[piece.place]; !known && p.bytes+len(piece.place) > room {
			piece.place = nowhere
		}
		out[i] = &schedulingv1.PlacedSegment{Place: p.number(piece.place), StartSecond: piece.start, EndSecond: piece.end}
	}
	return out
}

// breakSegment is the kind of segments in which nobody works.
const breakSegment = "BREAK_SEGMENT"

// seconds returns two wall-clock times as seconds after the midnight of a day.
func seconds(day civil.Date, start, end string) (from, to int32, err error) {
	first, err := civil.ParseDateTime(start)
	if err != nil {
		return 0, 0, err
	}
	last, err := civil.ParseDateTime(end)
	after := func(t civil.DateTime) int32 { return int32(t.Date-day)*civil.SecondsPerDay + t.Seconds }
	return after(first), after(last), err
}

// full tells whether an event is large enough to begin another one.
func (p *places) full(size int) bool { return size+p.bytes >= eventBytes }

// sizeOf is the room that a message takes in a list.
func sizeOf(m proto.Message) int { return proto.Size(m) + 4 }
