package scheduleitem

import (
	"time"

	"github.com/rotaloom/rotaloom/pkg/domain/jobpath"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleviolation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemchange"
)

// Settings limit entered shifts.
type Settings struct {
	MaxShift time.Duration `name:"max-entered-shift" env:"MAX_ENTERED_SHIFT" default:"24h" help:"Maximum length of a manually entered shift."`
}

// Deps are the dependencies of the handlers.
type Deps struct {
	Pool      *pg.Pool
	Directory itemchange.Directory
	Reader    *reading.Reader
	// Templates are the shift templates that ApplyCreateShifts can use.
	Templates patterndefinition.ShiftSource
	Settings  Settings
	// Rules checks the schedule rules of employees that get shifts. If it is nil, no rule applies.
	Rules *ruleviolation.Checker
	// JobPaths warns of jobs that no location has. It may be nil.
	JobPaths *jobpath.Checker
}

// entries returns the dependencies of the entry editors.
func (d Deps) editorDeps() itemchange.Deps {
	return itemchange.Deps{
		Pool: d.Pool, Directory: d.Directory, Reader: d.Reader, Rules: d.Rules, JobPaths: d.JobPaths,
	}.OnAnyDay()
}

const defaultMaxShift = 24 * time.Hour

func (d Deps) maxShift() time.Duration {
	if d.Settings.MaxShift <= 0 {
		return defaultMaxShift
	}
	return d.Settings.MaxShift
}
