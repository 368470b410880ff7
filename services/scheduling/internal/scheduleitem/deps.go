package scheduleitem

import (
	"time"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemchange"
)

// Settings bound what may be entered.
type Settings struct {
	MaxShift time.Duration `name:"max-entered-shift" env:"MAX_ENTERED_SHIFT" default:"24h" help:"Longest shift that may be entered by hand."`
}

// Deps is what the handlers work with.
type Deps struct {
	Pool      *pg.Pool
	Directory itemchange.Directory
	Reader    *reading.Reader
	// Templates are those that shifts can be made from.
	Templates patterndefinition.ShiftSource
	Settings  Settings
}

// entries returns what entries are changed with.
func (d Deps) entries() itemchange.Deps {
	return itemchange.Deps{Pool: d.Pool, Directory: d.Directory, Reader: d.Reader}
}

const defaultMaxShift = 24 * time.Hour

func (d Deps) maxShift() time.Duration {
	if d.Settings.MaxShift <= 0 {
		return defaultMaxShift
	}
	return d.Settings.MaxShift
}
