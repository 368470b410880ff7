package requestsubtype_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
)

// A subtype keeps its default pay code through renames, and the pay code stays while a subtype has it, also if
// the subtype named it before the pay code existed.
func TestDefaultPayCodes(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	codes := paycode.New(w.pool, paycodetest.Terms{})
	subtype := func(name, payCode string) *timekeepingv1.RequestSubtype {
		return &timekeepingv1.RequestSubtype{TimeOffRequest: &timekeepingv1.TimeOffRequestSubtype{Name: name, DefaultPayCode: &commonv1.Ref{Qualifier: &payCode}}}
	}
	early, err := w.client.CreateRequestSubtype(w.ctx, subtype("Early", "HOLIDAY"))
	require.NoError(t, err)
	assert.Nil(t, early.GetTimeOffRequest().GetDefaultPayCode().Id, "no pay code has the name yet")
	code, err := codes.CreatePayCode(w.ctx, &timekeepingv1.PayCode{Name: "Holiday"})
	require.NoError(t, err)
	_, err = codes.UpdatePayCode(w.ctx, &timekeepingv1.UpdatePayCodeRequest{Id: code.GetId(), Body: &timekeepingv1.PayCode{Name: "Vacation"}})
	require.NoError(t, err)
	late, err := w.client.CreateRequestSubtype(w.ctx, subtype("Late", "holiday"))
	require.NoError(t, err)
	for _, id := range []*int64{early.GetTimeOffRequest().Id, late.GetTimeOffRequest().Id} {
		read, err := w.client.GetRequestSubtype(w.ctx, &timekeepingv1.GetRequestSubtypeRequest{Id: *id})
		require.NoError(t, err)
		shown := read.GetTimeOffRequest().GetDefaultPayCode()
		assert.Equal(t, code.GetId(), shown.GetId())
		assert.Equal(t, "Vacation", shown.GetQualifier())
	}
	for _, user := range []*timekeepingv1.TimeOffRequestSubtype{early.GetTimeOffRequest(), late.GetTimeOffRequest()} {
		_, err = codes.DeletePayCode(w.ctx, &timekeepingv1.DeletePayCodeRequest{Id: code.GetId()})
		faulttest.Require(t, err, paycode.CodeInUse, 400)
		require.ErrorContains(t, err, `The request subtype "`+user.GetName()+`" refers to the pay code "Vacation"`)
		_, err = w.client.UpdateRequestSubtype(w.ctx, &timekeepingv1.UpdateRequestSubtypeRequest{Id: user.GetId(), RequestSubtype: subtype(user.GetName(), "Other")})
		require.NoError(t, err)
	}
	_, err = codes.DeletePayCode(w.ctx, &timekeepingv1.DeletePayCodeRequest{Id: code.GetId()})
	require.NoError(t, err)
}
