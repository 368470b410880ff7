package orgjob_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
)

func TestNamesOfJobs(t *testing.T) {
	t.Parallel()
	byID, byPath := &commonv1.Ref{Id: proto.Int64(5)}, &commonv1.Ref{Qualifier: proto.String("A/Cook")}
	for name, c := range map[string]struct{ ref, want *commonv1.Ref }{
		"none":        {nil, nil},
		"empty":       {&commonv1.Ref{}, nil},
		"by path":     {byPath, byPath},
		"by id":       {byID, byID},
		"by both":     {&commonv1.Ref{Id: proto.Int64(5), Qualifier: proto.String("A/Cook")}, byPath},
		"by id alone": {&commonv1.Ref{Id: proto.Int64(5), Qualifier: proto.String("")}, byID},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := orgjob.Ref(orgjob.Text(c.ref))
			assert.True(t, proto.Equal(c.want, got), "%v instead of %v", got, c.want)
		})
	}
}
