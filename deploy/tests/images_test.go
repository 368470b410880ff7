package deploy

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
)

var (
	imageLine = regexp.MustCompile(`(?m)^\s*image: *"?([^\s"]+)`)
	pinned    = regexp.MustCompile(`^[a-z0-9./-]+:[A-Za-z0-9.-]+@sha256:[0-9a-f]{64}$`)
)

// Third-party images have a tag for readers and a digest, because a tag may be moved to another
// image. Our own images have the tag of the release.
func TestImagesOfOthersArePinned(t *testing.T) {
	t.Parallel()
	texts := map[string][]byte{}
	for _, file := range []string{"../compose.yaml", base} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		texts[file] = text
	}
	for name, values := range variants {
		texts["the chart "+name] = render(t, values)
	}
	servers := map[string]map[string]bool{}
	for name, text := range texts {
		for _, found := range imageLine.FindAllStringSubmatch(string(text), -1) {
			image := found[1]
			if strings.HasPrefix(image, "localhost/rotaloom/") {
				continue
			}
			assert.Regexp(t, pinned, image, name)
			repository, _, _ := strings.Cut(image, ":")
			if servers[repository] == nil {
				servers[repository] = map[string]bool{}
			}
			servers[repository][image] = true
		}
	}
	assert.Len(t, servers, 2, "PostgreSQL and NATS")
	for repository, images := range servers {
		assert.Len(t, images, 1, "%s is the same everywhere", repository)
	}
}

// The version has one source, pkg/boot/version.txt. The chart names the same release, and all images
// come from one registry with one tag.
func TestTheChartHasTheVersionOfThePrograms(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../pkg/boot/version.txt")
	require.NoError(t, err)
	version := strings.TrimSpace(string(text))
	chart, err := loader.LoadDir(chartDir)
	require.NoError(t, err)
	assert.Equal(t, version, chart.Metadata.AppVersion)
	assert.Equal(t, version, chart.Metadata.Version)

	for want, values := range map[string]string{
		"localhost/rotaloom/%s:" + version: "",
		"registry.example/team/%s:1.2.3":   "image: {repository: registry.example/team, tag: 1.2.3}",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			found := map[string]bool{}
			for _, match := range imageLine.FindAllStringSubmatch(string(render(t, values)), -1) {
				found[match[1]] = true
			}
			for _, program := range []string{"auth", "commons", "timekeeping", "scheduling", "propagator", "recruiting", "platform", "gateway"} {
				assert.True(t, found[strings.ReplaceAll(want, "%s", program)], program)
			}
			assert.Len(t, found, 10, "the programs, PostgreSQL and NATS")
		})
	}
}
