package standalone

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/pkg/revocation"
)

// NATSPermissions is the command that prints the permissions of each service at a NATS server, in the format of
// the server's configuration. They follow from the contracts, so print them again for each new version.
type NATSPermissions struct {
	boot.Output
}

// userPermissions is the JSON output for a user.
type userPermissions struct {
	User           string   `json:"user"`
	Publish        []string `json:"publish"`
	Subscribe      []string `json:"subscribe"`
	AllowResponses bool     `json:"allowResponses,omitempty"`
}

// brokerUsers returns the programs that connect to the broker. Auth consumes no events, because no event
// affects log-ins.
func brokerUsers() []bus.User {
	// Each program publishes the restore watermarks of its database, and watermarks of others that a broker has lost.
	watermarks, both := []string{restore.BucketName}, []string{revocation.BucketName, restore.BucketName}
	return []bus.User{
		{Name: "auth", Buckets: both, Watches: watermarks},
		{Name: "commons", Streams: []string{"COMMONS"}, Buckets: watermarks, Watches: both},
		{Name: "timekeeping", Streams: []string{"TIMEKEEPING"}, Buckets: watermarks, Watches: both},
		{Name: "scheduling", Streams: []string{"SCHEDULING", "SCHEDULING_WORK"}, Buckets: watermarks, Watches: both},
		{Name: "propagator", Streams: []string{"SCHEDULING", "SCHEDULING_WORK"}, Verifies: "scheduling", Buckets: watermarks, Watches: watermarks},
		{Name: "recruiting", Buckets: watermarks, Watches: both},
		{Name: "platform", Buckets: watermarks, Watches: both},
	}
}

// Do prints the configuration.
func (n *NATSPermissions) Do(_ context.Context, _ *slog.Logger, out io.Writer) error {
	var users []userPermissions
	for _, user := range brokerUsers() {
		p, err := user.Permissions(protoregistry.GlobalFiles)
		if err != nil {
			return err
		}
		users = append(users, userPermissions{user.Name, p.Publish, p.Subscribe, p.AllowResponses})
	}
	if n.JSON() {
		return n.Print(out, users, nil)
	}
	text := &strings.Builder{}
	text.WriteString("# Users of NATS with the least privileges that each service needs: include this in nats-server.conf.\n" +
		"# The server reads the passwords from its environment; hashes from nats server passwd work too.\n" +
		"authorization {\n  users = [\n")
	for _, p := range users {
		fmt.Fprintf(text, "    {\n      user: %s\n      password: $NATS_PASSWORD_%s\n      permissions {\n", p.User, strings.ToUpper(p.User))
		list(text, "publish", p.Publish)
		list(text, "subscribe", p.Subscribe)
		if p.AllowResponses {
			text.WriteString("        allow_responses: true\n")
		}
		text.WriteString("      }\n    }\n")
	}
	text.WriteString("  ]\n}\n")
	_, err := io.WriteString(out, text.String())
	return err
}

func list(text *strings.Builder, name string, subjects []string) {
	fmt.Fprintf(text, "        %s {\n          allow: [\n", name)
	for _, s := range subjects {
		fmt.Fprintf(text, "            %q\n", s)
	}
	text.WriteString("          ]\n        }\n")
}
