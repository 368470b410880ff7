package projection

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// ReadJobs decodes the stored primary jobs of an employee.
func ReadJobs(stored []byte) ([]Job, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	state := &commonsv1.PersonJobs{}
	if err := proto.Unmarshal(stored, state); err != nil {
		return nil, fmt.Errorf("projection: read primary jobs: %w", err)
	}
	jobs := make([]Job, len(state.GetJobs()))
	for i, j := range state.GetJobs() {
		jobs[i] = Job{Days: civil.Range{From: civil.Date(j.GetFrom()), To: civil.Date(j.GetTo())}, Path: j.GetPath(), LocationID: j.GetLocationId(), OtherPaths: j.GetOtherPaths()}
	}
	return jobs, nil
}
