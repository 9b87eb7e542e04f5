package rocketchaos;

import io.delta.storage.S3SingleDriverLogStore;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;

/**
 * Commits to a Delta table on S3 from any number of processes: the server itself refuses to replace a commit.
 *
 * Delta's own S3SingleDriverLogStore (4.1.0) looks whether the commit is there, and then writes: of two
 * processes that commit at once, one loses what it wrote. S3A writes with `If-None-Match: *` instead, if asked to
 * (S3AFileSystem.innerCreateFile, Hadoop 3.4.2).
 */
public final class ConditionalPutLogStore extends S3SingleDriverLogStore {
    private static final String CONDITIONAL = "fs.option.create.conditional.overwrite";
    /** File systems whose server has been seen to refuse a second write. */
    private static final Set<String> REFUSING = ConcurrentHashMap.newKeySet();

    public ConditionalPutLogStore(Configuration configuration) {
        super(configuration);
    }

    @Override
    public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration configuration)
            throws IOException {
        if (overwrite) {
            super.write(path, actions, true, configuration);
            return;
        }
        byte[] content = bytesOf(actions);
        FileSystem files = path.getFileSystem(configuration);
        try {
            put(files, path, content);
        } catch (IOException error) {
            // Refused; or it is there though the answer was lost, and S3A's own second try was refused.
            byte[] there = contentOf(files, path, error);
            if (!Arrays.equals(there, content)) {
                throw (IOException) new FileAlreadyExistsException(path.toString()).initCause(error);
            }
        }
        requireRefusing(files, path, content);
    }

    private static void put(FileSystem files, Path path, byte[] content) throws IOException {
        FSDataOutputStreamBuilder<?, ?> builder = files.createFile(path).create().overwrite(false);
        try (FSDataOutputStream output = builder.must(CONDITIONAL, true).build()) {
            output.write(content);
        }
    }

    /** What is at the path; where nothing is, or it can't be read, the error of the write is thrown. */
    private static byte[] contentOf(FileSystem files, Path path, IOException ofTheWrite) throws IOException {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        try (InputStream input = files.open(path)) {
            byte[] buffer = new byte[64 * 1024];
            for (int read = input.read(buffer); read >= 0; read = input.read(buffer)) {
                content.write(buffer, 0, read);
            }
        } catch (FileNotFoundException nothing) {
            throw ofTheWrite;
        } catch (IOException unreadable) {
            ofTheWrite.addSuppressed(unreadable);
            throw ofTheWrite;
        }
        return content.toByteArray();
    }

    /** Once for each bucket: write the same again, which a server that knows the condition refuses. */
    private static void requireRefusing(FileSystem files, Path path, byte[] content) throws IOException {
        String bucket = files.getUri().toString();
        if (REFUSING.contains(bucket)) {
            return;
        }
        try {
            put(files, path, content);
        } catch (RemoteFileChangedException refused) {
            REFUSING.add(bucket);
            return;
        } catch (IOException unknown) {
            // The next commit shows it.
            return;
        }
        throw new IOException("the server of " + bucket + " ignores If-None-Match");
    }

    private static byte[] bytesOf(Iterator<String> actions) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        while (actions.hasNext()) {
            byte[] line = (actions.next() + "\n").getBytes(StandardCharsets.UTF_8);
            content.write(line, 0, line.length);
        }
        return content.toByteArray();
    }
}
