package gateway

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const templatesPath = "/v1/scheduling/shift_templates"

func TestIfMatchToTheServices(t *testing.T) {
	t.Parallel()
	var got []string
	note := func(ctx context.Context) {
		md, _ := metadata.FromIncomingContext(ctx)
		got = md.Get(client.HeaderIfMatch)
	}
	f := &fakes{templates: templates{
		getTemplate: func(ctx context.Context, _ *schedulingv1.GetShiftTemplateRequest) (*schedulingv1.ShiftTemplate, error) {
			note(ctx)
			return &schedulingv1.ShiftTemplate{}, nil
		},
		updateTemplate: func(ctx context.Context, _ *schedulingv1.UpdateShiftTemplateRequest) (*schedulingv1.ShiftTemplate, error) {
			note(ctx)
			return &schedulingv1.ShiftTemplate{}, nil
		},
		createTemplate: func(ctx context.Context, _ *schedulingv1.ShiftTemplate) (*schedulingv1.ShiftTemplate, error) {
			note(ctx)
			return &schedulingv1.ShiftTemplate{}, nil
		},
	}}
	s := serve(t, Config{}, f)
	tests := []struct {
		name, method, path string
		lines              []string
		status             int
		code               string
		want               []string
	}{
		{"none", "PUT", "/1", nil, 200, "", nil},
		{"one", "PUT", "/1", []string{`"3"`}, 200, "", []string{"3"}},
		{"a list over lines", "PUT", "/1", []string{`"3", "4"`, `"5"`}, 200, "", []string{"3,4,5"}},
		{"any", "PUT", "/1", []string{"*"}, 200, "", []string{"*"}},
		{"a weak one", "PUT", "/1", []string{`W/"3"`}, 200, "", []string{"0"}},
		{"a malformed one", "PUT", "/1", []string{"3"}, 400, fault.CodeValue, nil},
		{"an empty one", "PUT", "/1", []string{""}, 400, fault.CodeValue, nil},
		{"of a read", "GET", "/1", []string{`"3"`}, 200, "", nil},
		{"of a creation", "POST", "", []string{`"3"`}, 400, precondition.CodeNoVersion, nil},
		{"any of a creation", "POST", "", []string{"*"}, 200, "", nil},
		{"of several", "PUT", "/multi_update", []string{`"3"`}, 400, precondition.CodeNoVersion, nil},
		{"a malformed one of several", "PUT", "/multi_update", []string{"3"}, 400, fault.CodeValue, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got = nil
			var headers []string
			for _, line := range test.lines {
				headers = append(headers, "If-Match", line)
			}
			re := call(t, s, test.method, templatesPath+test.path, `{}`, headers...)
			require.Equal(t, test.status, re.status, re.body)
			assert.Contains(t, re.body, test.code)
			assert.Equal(t, test.want, got)
		})
	}
	t.Run("clients name no metadata", func(t *testing.T) {
		got = nil
		call(t, s, "PUT", templatesPath+"/1", `{}`, "Rotaloom-If-Match", "1", "Grpc-Metadata-Rotaloom-If-Match", "1")
		assert.Empty(t, got)
	})
}

func TestEntityTags(t *testing.T) {
	t.Parallel()
	reported, failure := "", error(nil)
	f := &fakes{templates: templates{
		getTemplate: func(ctx context.Context, _ *schedulingv1.GetShiftTemplateRequest) (*schedulingv1.ShiftTemplate, error) {
			if failure != nil {
				return nil, failure
			}
			if reported != "" {
				if err := grpc.SetHeader(ctx, metadata.Pairs(rpc.HeaderVersion, reported)); err != nil {
					return nil, err
				}
			}
			return &schedulingv1.ShiftTemplate{Version: "7"}, nil
		},
	}}
	s := serve(t, Config{}, f)
	re := call(t, s, "GET", templatesPath+"/1", "")
	assert.Equal(t, `"7"`, re.header.Get("ETag"), "the version in the response")
	reported = "12"
	re = call(t, s, "GET", templatesPath+"/1", "")
	assert.Equal(t, `"12"`, re.header.Get("ETag"), "the version in the header takes precedence")
	failure = fault.New(fault.CodeStale, http.StatusPreconditionFailed, "Changed.").GRPCStatus().Err()
	re = call(t, s, "GET", templatesPath+"/1", "")
	assert.Equal(t, http.StatusPreconditionFailed, re.status)
	assert.Empty(t, re.header.Get("ETag"))
}
