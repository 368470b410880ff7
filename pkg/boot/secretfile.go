package boot

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// maxSettingFile is the size in bytes of a file that holds a setting.
const maxSettingFile = 64 << 10

// fileSettings reads a setting from the file that ROTALOOM_NAME_FILE names, so that a
// secret stands neither in the arguments nor in the environment of a process. White
// space around the value does not count: editors end files with a line break.
// A flag on the command line wins. A variable and its file together are an error,
// because nobody could know which one was meant.
func fileSettings(lookup func(string) (string, bool)) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		for _, name := range flag.Envs {
			path, ok := lookup(name + "_FILE")
			if !ok || path == "" {
				continue
			}
			if _, both := lookup(name); both {
				return nil, fmt.Errorf("%s and %s_FILE are both set: keep one", name, name)
			}
			value, err := readSetting(path)
			if err != nil {
				return nil, fmt.Errorf("%s_FILE: %w", name, err)
			}
			return value, nil
		}
		return nil, nil //nolint:nilnil // What resolvers return for a setting that they do not know.
	})
}

func readSetting(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	value, err := io.ReadAll(io.LimitReader(file, maxSettingFile+1))
	if err != nil {
		return "", err
	}
	if len(value) > maxSettingFile {
		return "", fmt.Errorf("%s holds more than %d bytes", path, maxSettingFile)
	}
	return strings.TrimSpace(string(value)), nil
}
