import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.stream.*;

/** Threads, hot loops for the compilers, exceptions and garbage: what java.sh runs. */
public class Work {
    interface Shape { double area(); }
    record Circle(double radius) implements Shape { public double area() { return Math.PI * radius * radius; } }
    record Square(double side) implements Shape { public double area() { return side * side; } }

    static long collatz(int limit) {
        long longest = 0;
        for (int start = 1; start < limit; start++) {
            long value = start, steps = 0;
            while (value != 1) { value = (value & 1) == 0 ? value >> 1 : 3 * value + 1; steps++; }
            longest = Math.max(longest, steps * 1000000L + start);
        }
        return longest;
    }

    static int caught(Object[] objects) {
        int count = 0;
        for (Object object : objects) {
            try { count += object.hashCode() == 0 ? 1 : 2; } catch (NullPointerException error) { count += 100; }
            try { count += 10 / (count % 3); } catch (ArithmeticException error) { count += 7; }
        }
        return count;
    }

    static int depth(int level) { return depth(level + 1) + 1; }

    public static void main(String[] arguments) throws Exception {
        int scale = arguments.length > 0 ? 1 : 6;
        System.out.println(collatz(60000 * scale));
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Long>> results = new ArrayList<>();
        for (int number = 0; number < 16; number++) {
            final int seed = number;
            results.add(pool.submit(() -> {
                Random random = new Random(seed);
                TreeMap<Integer, String> map = new TreeMap<>();
                for (int i = 0; i < 4000 * scale; i++) map.merge(random.nextInt(3000), "x" + i % 10, String::concat);
                return map.entrySet().stream().mapToLong(e -> (long) e.getKey() * e.getValue().length()).sum();
            }));
        }
        long total = 0;
        for (Future<Long> result : results) total += result.get();
        System.out.println(total);
        pool.shutdown();
        System.out.println(pool.awaitTermination(60, TimeUnit.SECONDS));

        AtomicLong atomic = new AtomicLong();
        long[] locked = new long[1];
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int j = 0; j < 20000 * scale; j++) {
                    atomic.incrementAndGet();
                    synchronized (locked) { locked[0]++; }
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        System.out.println(atomic.get() + " " + locked[0]);

        Object[] objects = new Object[20000];
        for (int i = 0; i < objects.length; i += 3) objects[i] = i;
        for (int i = 0; i < scale; i++) caught(objects);
        System.out.println(caught(objects));
        try { depth(0); } catch (StackOverflowError error) { System.out.println("stack overflow"); }
        Shape[] shapes = new Shape[1000];
        for (int i = 0; i < shapes.length; i++) shapes[i] = i % 3 == 0 ? new Circle(i) : new Square(i);
        double area = 0;
        for (int i = 0; i < 300 * scale; i++) for (Shape shape : shapes) area += shape.area();
        System.out.println(area);
        System.out.println(IntStream.range(0, 200000).parallel().filter(i -> i % 7 == 0).mapToLong(i -> (long) i * i).sum());
        List<byte[]> kept = new ArrayList<>();
        for (int i = 0; i < 3000 * scale; i++) { byte[] garbage = new byte[10000]; garbage[i % 10000] = 1; if (i % 500 == 0) kept.add(garbage); }
        System.gc();
        System.out.println(kept.size() + " " + String.format("%.3f %s", Math.sin(1) * Math.pow(2, 0.3), "end"));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
        System.exit(5);
    }
}
