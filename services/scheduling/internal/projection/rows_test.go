package projection

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

// A read of all employees leaves out employees whom the caller may not see. If a request names one,
// the response is the same as for an unknown employee.
func TestEmployeesOfTheCaller(t *testing.T) {
	w := newFixture(t)
	w.persons(person(1, 1, "P1"), person(2, 1, "P2"))
	own := schedtest.As(t.Context(), 1, rowvisibility.Own)

	found, err := w.EmployeesByList(own, nil)
	require.NoError(t, err)
	assert.Equal(t, "P1", strings.Join(numbers(found), " "))
	count, err := w.CountEmployees(own)
	require.NoError(t, err)
	assert.Equal(t, 1, count)
	all, err := w.CountEmployees(schedtest.As(t.Context(), 1, rowvisibility.All))
	require.NoError(t, err)
	assert.Equal(t, 2, all)

	_, err = w.Employees(own, []*commonv1.Ref{byID(1), byName("P1")})
	require.NoError(t, err)
	for hidden, unknown := range map[*commonv1.Ref]*commonv1.Ref{byID(2): byID(99), byName("P2"): byName("P99")} {
		_, err := w.Employees(own, []*commonv1.Ref{byID(1), hidden})
		_, same := w.Employees(own, []*commonv1.Ref{byID(1), unknown})
		require.True(t, fault.HasCode(err, "WFS-103401"), "%v", err)
		assert.Equal(t, strings.Replace(same.Error(), "99", "2", 1), err.Error())
	}
}
