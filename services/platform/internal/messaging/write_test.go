package messaging

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// A small request must not have more texts written than a process has memory for.
func TestAllTextsAreBounded(t *testing.T) {
	t.Parallel()
	n := &platformv1.GenericNotification{Id: proto.Int64(1), Name: "Long", LongMessage: strings.Repeat("{{value}}", 8)}
	to := &resolved{}
	for i := range 600 {
		to.addresses = append(to.addresses, fmt.Sprintf("a%d@example.com", i))
	}
	left, written := maxSent, 0
	for range 3 {
		m := &message{notification: n, values: map[string]string{"value": strings.Repeat("x", 4000)}, remainingBytes: &left}
		err := m.write(to, nil)
		for _, d := range m.deliveries {
			written += proto.Size(d.Content)
		}
		if err != nil {
			assert.True(t, fault.HasStatus(err, http.StatusRequestEntityTooLarge), err)
			assert.LessOrEqual(t, written, maxSent)
			return
		}
	}
	require.Fail(t, "more was written than one request may have", "%d bytes", written)
}
