package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// manyShifts is a response that is written in several parts.
func manyShifts() *schedulingv1.ShiftList {
	list := &schedulingv1.ShiftList{}
	for i := range 5000 {
		list.Shifts = append(list.Shifts, &schedulingv1.Shift{Id: proto.Int64(int64(i) + 1), Label: fmt.Sprint("shift ", i)})
	}
	return list
}

func TestLargeResponsesAreWrittenInParts(t *testing.T) {
	t.Parallel()
	f := &fakes{createShifts: func(context.Context, *schedulingv1.Shift) (*schedulingv1.ShiftList, error) {
		return manyShifts(), nil
	}}
	s := serve(t, Config{}, f)
	re := call(t, s, "POST", shiftsPath, `{}`)
	require.Equal(t, http.StatusOK, re.status)
	assert.Empty(t, re.header.Get("Content-Length"), "the response began before its length was known")
	var got []struct {
		ID    int64
		Label string
	}
	require.NoError(t, json.Unmarshal([]byte(re.body), &got))
	require.Len(t, got, 5000)
	for i := range got {
		require.Equal(t, int64(i)+1, got[i].ID)
		require.Equal(t, fmt.Sprint("shift ", i), got[i].Label)
	}
}

// An error after the first part cannot become an error body. The client must not take the beginning for the
// whole response.
func TestResponsesThatFailHalfWayAreCutOff(t *testing.T) {
	t.Parallel()
	f := &fakes{createShifts: func(context.Context, *schedulingv1.Shift) (*schedulingv1.ShiftList, error) {
		wire, err := proto.Marshal(manyShifts())
		list := &schedulingv1.ShiftList{}
		list.ProtoReflect().SetUnknown(append(wire, 1<<3|2, 2, 0xff, 0xff)) // an item that is not a message
		return list, err
	}}
	s := serve(t, Config{}, f)
	for _, proto := range []int{1, 2} {
		t.Run(fmt.Sprint(proto), func(t *testing.T) {
			client := s.Client()
			if proto == 1 {
				transport := client.Transport.(*http.Transport).Clone()
				transport.ForceAttemptHTTP2 = false
				transport.TLSClientConfig.NextProtos = []string{"http/1.1"}
				t.Cleanup(transport.CloseIdleConnections)
				client = &http.Client{Transport: transport}
			}
			resp, err := client.Post(s.URL+shiftsPath, "application/json", strings.NewReader("{}"))
			require.NoError(t, err)
			require.Equal(t, proto, resp.ProtoMajor)
			require.Equal(t, http.StatusOK, resp.StatusCode)
			_, err = io.ReadAll(resp.Body)
			require.Error(t, err)
			require.NoError(t, resp.Body.Close())
		})
	}
}
