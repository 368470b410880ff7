package job

import (
	"fmt"
	"net/http"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// version holds the properties of a job for a range of days.
type version struct {
	name, fullName, description, code, color, displayOrder string
	externalID                                             *string
	// updatedAt is the time of the last change; nil stands for now.
	updatedAt *time.Time
}

// withSent returns the version with the sent properties of a job applied.
func (v version) withSent(given *commonsv1.Job) version {
	for into, value := range map[*string]*string{
		&v.name: given.Name, &v.fullName: given.FullName, &v.description: given.Description,
		&v.code: given.Code, &v.color: given.Color, &v.displayOrder: given.DisplayOrder,
	} {
		if value != nil {
			*into = *value
		}
	}
	if given.ExternalId != nil {
		v.externalID = nil
		if *given.ExternalId != "" {
			v.externalID = given.ExternalId
		}
	}
	v.updatedAt = nil
	return v
}

// check checks the sent properties of a job.
func check(given *commonsv1.Job) error {
	if given.Name != nil {
		if err := structure.CheckName("name", given.GetName()); err != nil {
			return err
		}
	}
	return nil
}

// unknownJobError returns the error for a job that does not exist.
func unknownJobError(id int64) *fault.Error {
	return fault.NotFound(structure.CodeUnknownJob, fmt.Sprintf("There is no job with the id %d.", id))
}

// errNotOnDate returns the error for a job that does not exist on a day.
func errNotOnDate(id int64, day civil.Date) *fault.Error {
	return fault.New(structure.CodeJobNotOnDate, http.StatusBadRequest,
		fmt.Sprintf("The job with the id %d does not exist on %s.", id, day))
}
